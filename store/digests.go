package store

// ScriptNames are the scripts' file names by the digest under which Redis knows them, for
// whoever watches commands go by.
func ScriptNames() (map[string]string, error) {
	scripts, err := loadScripts(scriptFiles)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(scripts))
	for name, script := range scripts {
		names[script.Hash()] = name + ".lua"
	}
	return names, nil
}
