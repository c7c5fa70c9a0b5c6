package headgate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// copyFallbacks keeps what the caller does to his map later out of here.
func copyFallbacks(models map[string][]string) map[string][]string {
	kept := make(map[string][]string, len(models))
	for model, backups := range models {
		kept[model] = slices.Clone(backups)
	}
	return kept
}

// validFallbacks reports the first fault, in the order of the names.
func validFallbacks(models map[string][]string) error {
	for _, model := range slices.Sorted(maps.Keys(models)) {
		if fault := badModel(model); fault != "" {
			return fmt.Errorf("headgate: WithFallbacks: the model %q %s", model, fault)
		}
		seen := map[string]bool{model: true}
		for _, backup := range models[model] {
			switch fault := badModel(backup); {
			case fault != "":
				return fmt.Errorf("headgate: WithFallbacks: %q: the backup %q %s", model, backup, fault)
			case backup == model:
				return fmt.Errorf("headgate: WithFallbacks: %q is a backup of itself", model)
			case seen[backup]:
				return fmt.Errorf("headgate: WithFallbacks: %q: the backup %q is named twice", model, backup)
			}
			seen[backup] = true
		}
	}
	return nil
}

// badModel says what is wrong with a name.
func badModel(name string) string {
	switch {
	case name == "":
		return "is empty"
	case strings.Contains(name, "*"):
		return "has a * in it: names are exact here"
	case !utf8.ValidString(name):
		return "isn't UTF-8"
	}
	return ""
}
