package charnames

import "testing"

func TestNames(t *testing.T) {
	for name, r := range map[string]rune{"LATIN SMALL LETTER A": 'a', "HANGUL SYLLABLE HAN": '한', "HANGUL SYLLABLE A": '아', "CJK UNIFIED IDEOGRAPH-4E2D": '中', "GREEK SMALL LETTER PI": 'π', "SNOWMAN": '☃', "": 0} {
		if got := Name(r); got != name {
			t.Errorf("%U: %q, want %q", r, got, name)
		}
		if got, ok := Named(name); name != "" && (!ok || got != r) {
			t.Errorf("%q: %U, %v", name, got, ok)
		}
	}
	if r, ok := Named("greek small letter pi"); !ok || r != 'π' {
		t.Errorf("small letters: %U", r)
	}
}
