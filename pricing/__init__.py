"""What things cost: price cards, the book that holds them, and exact charges.

Imports nothing of this project but itself. The submodules are not imported here, because some of them need pandas or
genai-prices, which take longer to load than most commands run.
"""
