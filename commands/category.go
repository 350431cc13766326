package commands

// aclCategories are the ACL categories in the order ACL CAT lists them: Valkey's, those included that no
// row here carries, so that rules written for Valkey apply, and then this server's own.
var aclCategories = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo",
	"stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting",
	"emq",
}

// ACLCategoryNames returns every ACL category, without the @ sign, in the order ACL CAT lists them.
// Callers do not change it.
func ACLCategoryNames() []string { return aclCategories }
