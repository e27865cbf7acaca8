"""What the requests look like: usage logs and exports to one ledger, and the ledger to small tables.

Of ``pricing`` only the vocabulary is known here (meters and units): this package never sees a price.
"""
