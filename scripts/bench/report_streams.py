def report(meta, rows, page): pass
