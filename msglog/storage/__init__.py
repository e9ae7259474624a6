"""How a store is kept: tables, transactions, the writer, readers and followers."""
