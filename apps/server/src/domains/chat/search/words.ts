/** What a folded text is made of. */
export interface Token {
  text: string;
  /** In the folded text. */
  at: number;
  /** Of a script that has no spaces between words, or an emoji: found by any part of it. */
  isRun: boolean;
}

const unspaced = String.raw`\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}`;
const tokens = new RegExp(
  String.raw`([[[\p{L}\p{N}\p{M}]&&[${unspaced}]]\p{ExtPict}]+)|[[\p{L}\p{N}\p{M}_]--[${unspaced}]]+`,
  'gv',
);

const isAscii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9_]+/g;

export function tokensOf(folded: string): Token[] {
  const found: Token[] = [];
  // The same words, ten times as fast.
  if (isAscii.test(folded)) {
    for (const { 0: text, index } of folded.matchAll(asciiWords)) found.push({ text, at: index, isRun: false });
    return found;
  }
  for (const { 0: text, 1: run, index } of folded.matchAll(tokens))
    found.push({ text, at: index, isRun: run !== undefined });
  return found;
}
