/** Archaic turns and pictures that no comment, name, text or document uses: each has a plain word. */
import { readFileSync } from 'node:fs';
import { finishCheck, repositoryFiles } from './repository-files.ts';

const refused = [
  'whoever',
  'whomever',
  'shall',
  'let go',
  String.raw`confess\w*`,
  'in one breath',
  'bury|buries|buried|burying',
  'thereof',
  'hereby',
];
/** Merged migrations and the notes of releases stay as they are; docs/api is written from the sources. */
const excluded = /^(apps\/server\/migrations\/|docs\/api\/|CHANGELOG\.md$|tools\/check-words)/;
const filesMin = 2_500;

/** Two words may stand on two lines of a comment. */
const pattern = new RegExp(String.raw`\b(?:${refused.join('|').replaceAll(' ', String.raw`[\s/*#>]+`)})\b`, 'gi');

/** Words in a text, with their lines; a name is read as the words that it is made of. */
export function refusedWordsIn(source: string): { word: string; line: number }[] {
  const text = source.replaceAll('_', ' ').replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  return [...text.matchAll(pattern)].map(({ 0: word, index }) => ({
    word,
    line: text.slice(0, index).split('\n').length,
  }));
}

if (import.meta.main) {
  const files = repositoryFiles('*.ts', '*.tsx', '*.js', '*.md').filter((path) => !excluded.test(path));
  const problems = files.flatMap((path) =>
    refusedWordsIn(readFileSync(path, 'utf8')).map(({ word, line }) => `${path}:${line}: a plain word for "${word}"`),
  );
  if (files.length < filesMin) problems.push(`saw only ${files.length} files: the check is broken`);
  finishCheck(problems, `${files.length} files`);
}
