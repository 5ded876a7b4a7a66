/** Where tests quote rules of docs/behaviour.md. */
import { readFileSync } from 'node:fs';
import { repositoryFiles } from './repository-files.ts';

export interface Quote {
  rule: string;
  path: string;
  line: number;
}

export const listQuotes = (): Quote[] =>
  repositoryFiles('*.test.ts', '*.test.tsx', '*.contract.ts', 'apps/server/testkit/*.ts').flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((text, index) =>
        [...text.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, rule = '']) => ({ rule, path, line: index + 1 })),
      ),
  );
