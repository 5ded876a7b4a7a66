import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Files of the repository that match a git pathspec, tracked or new; without those that are deleted or ignored. */
export function repositoryFiles(...patterns: string[]): string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '' && existsSync(path));
}

/** Ends a check: its problems and exit code 1, or what it saw. */
export function finishCheck(problems: readonly string[], seen: string): void {
  console.log(problems.length === 0 ? seen : problems.join('\n'));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
