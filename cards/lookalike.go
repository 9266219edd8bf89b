package cards

// lookalike gives the Latin letter that c of another alphabet, or a digit, is
// drawn like, or c. Compatibility forms (wide, bold, in circles) are not here:
// they are taken apart before.
func lookalike(c rune) rune {
	switch {
	case 0x1f150 <= c && c <= 0x1f169: // white on black circles
		return 'a' + c - 0x1f150
	case 0x1f170 <= c && c <= 0x1f189: // white on black squares
		return 'a' + c - 0x1f170
	case 0x1f1e6 <= c && c <= 0x1f1ff: // letters that flags are made of
		return 'a' + c - 0x1f1e6
	}
	switch c {
	case 'а', 'А', 'α', 'Α', 'ɑ', 'ᴀ', 'Ꭺ', 'ꓮ':
		return 'a'
	case 'в', 'В', 'Β', 'ʙ', 'Ᏼ', 'ꓐ', 'ᖯ', 'Ь', 'ь':
		return 'b'
	case 'с', 'С', 'ƈ', 'Ƈ', 'ȼ', 'Ȼ', 'ϲ', 'Ϲ', 'ᴄ', 'Ꮯ', 'ꓚ', 'ⅽ', 'ⲥ', 'Ⲥ':
		return 'c'
	case 'ԁ', 'ᴅ', 'ɖ', 'Ɖ', 'Ɗ', 'Ꭰ', 'ꓓ', 'ɗ', 'đ', 'Đ', 'ᑯ':
		return 'd'
	case 'е', 'Е', 'ε', 'Ε', 'ҽ', 'Ҽ', 'є', 'Є', 'ᴇ', 'Ꭼ', 'ꓰ', '3', 'ɛ', 'ə', 'ǝ', 'з', 'З', 'э', '℮':
		return 'e'
	case 'ғ', 'Ϝ', 'ꓝ':
		return 'f'
	case 'һ', 'Н', 'н', 'Η', 'ʜ', 'Ꮋ', 'ꓧ', 'հ', 'ħ':
		return 'h'
	case 'і', 'І', 'ι', 'Ι', 'ı', 'ɪ', 'Ӏ', 'ӏ', 'Ꭵ', 'ꓲ', 'i', 'I', '1', '|', 'ǀ', 'ł', 'Ł', 'ן', 'ו', 'ا', 'ʟ', 'ꓡ', 'Ꮮ', 'ℓ', '!', '¡':
		return 'l' // I, l and 1 are one
	case 'ј', 'Ј', 'ϳ', 'Ϳ', 'ᴊ', 'Ꭻ', 'ꓙ', 'ʝ', 'ȷ':
		return 'j'
	case 'к', 'К', 'κ', 'Κ', 'ᴋ', 'Ꮶ', 'ꓗ', 'Ⲕ':
		return 'k'
	case 'м', 'М', 'Μ', 'ᴍ', 'Ꮇ', 'ꓟ':
		return 'm'
	case 'п', 'и', 'И', 'Ν', 'ո', 'ռ', 'ɴ', 'η', 'ꓠ', 'ñ', 'ŋ', 'ƞ', 'Ⲛ', 'П':
		return 'n'
	case 'о', 'О', 'ο', 'Ο', 'σ', 'օ', 'Օ', 'ᴏ', '0', 'ø', 'Ø', 'ס', 'ه', '০', '०', 'ꓳ', 'ⲟ', 'Ⲟ', 'ө', 'Ө', '〇', 'ඉ', 'ഠ', 'ᴑ':
		return 'o'
	case 'р', 'Р', 'ρ', 'Ρ', 'ᴘ', 'Ꮲ', 'ꓑ', 'ⲣ', 'Ⲣ', 'þ', 'Þ':
		return 'p'
	case 'г', 'Г', 'ʀ', 'Ꭱ', 'ꓣ', 'ɾ', 'я', 'Я':
		return 'r'
	case 'ѕ', 'Ѕ', 'ꜱ', 'Ꮪ', 'ꓢ', '5', '$', 'ƨ', 'ʂ', 'Տ':
		return 's'
	case 'т', 'Т', 'τ', 'Τ', 'ᴛ', 'Ꭲ', 'ꓔ', 'ŧ', '7', '†':
		return 't'
	case 'υ', 'ս', 'ᴜ', 'Ս', 'ꓴ', 'µ', 'μ', 'ц', 'Ц', 'ʋ':
		return 'u'
	case 'ѵ', 'Ѵ', 'Ʋ', 'ν', 'ᴠ', 'Ꮩ', 'ꓦ', 'ט':
		return 'v'
	case 'ѡ', 'ω', 'ᴡ', 'Ꮃ', 'ꓪ', 'ա', 'ш', 'Ш', 'ɯ':
		return 'w'
	case 'х', 'Х', 'χ', 'Χ', 'ꓫ', '×', 'Ⲭ', 'ⅹ':
		return 'x'
	case 'у', 'У', 'ƴ', 'Ƴ', 'ү', 'Ү', 'γ', 'Υ', 'ʏ', 'Ꭹ', 'ꓬ', 'Ⲩ', 'ყ', 'ў', '¥':
		return 'y'
	}
	return c
}
