const SIX_DIGITS = /^[0-9]{6}$/;

/** Removes spaces, hyphens and invisible characters from a typed or pasted code. Converts digits of other scripts. */
export function cleanTypedCode(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Pd}\p{Bidi_Control}]/gu, '')
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));
}

/** Parses six digits in any formatting; undefined for anything else. */
export function parseSixDigits(text: string): string | undefined {
  const code = cleanTypedCode(text);
  return SIX_DIGITS.test(code) ? code : undefined;
}
