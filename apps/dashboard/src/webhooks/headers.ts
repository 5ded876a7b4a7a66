import { t } from '../i18n/t.ts';

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `Name: value` lines as the service takes them. */
export const headersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );

/** Answers while nothing was sent yet; which names are taken is the service's to say. */
export function headerProblem(text: string): string | undefined {
  const bad = linesOf(text).find((line) => !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+\s*:\s*\S/.test(line));
  return bad === undefined ? undefined : t('webhooks.notAHeader', { line: bad.slice(0, 40) });
}
