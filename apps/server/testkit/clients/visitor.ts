import { randomBytes, randomInt } from 'node:crypto';
import type { MailMessage } from '../../src/core/ports.ts';
import { eventually } from '../kit/eventually.ts';
import type { TestService } from '../kit/service.ts';

/** One browser: an address of its own, and a jar for the cookies it is given. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  /** Raw `set-cookie` lines of the last answer. */
  setCookies(): string[];
  get(path: string, headers?: Record<string, string>): Promise<Visit>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Visit>;
}

export interface Visit {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came back and asserts on it.
  body: any;
}

export function createVisitor({ url }: Pick<TestService, 'url'>): Visitor {
  const cookies = new Map<string, string>();
  // The service believes the test as its proxy, so every visitor has budgets of their own.
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;
  let lines: string[] = [];

  async function send(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Visit> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-forwarded-for': address,
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    lines = answer.headers.getSetCookie();
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (line.includes('Max-Age=0')) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  }

  return {
    cookies,
    setCookies: () => lines,
    get: (path, headers = {}) => send('GET', path, undefined, headers),
    post: (path, body, headers = {}) => send('POST', path, body, headers),
  };
}

export const newEmail = (name = 'person'): string => `${name}-${randomBytes(6).toString('hex')}@example.com`;

/** Messages to an address, newest first. */
export const mailTo = (service: Pick<TestService, 'adapters'>, email: string): MailMessage[] =>
  (service.adapters.mailbox?.list() ?? []).filter((letter) => letter.to.toLowerCase() === email.toLowerCase());

/** The secret of the link in the newest of `count` messages to an address. */
export const mailedToken = (service: Pick<TestService, 'adapters'>, email: string, count = 1): Promise<string> =>
  eventually(() => {
    const messages = mailTo(service, email);
    const token = /[?&]token=([\w-]+)/.exec(messages[0]?.text ?? '')?.[1];
    if (messages.length < count || token === undefined) throw new Error(`${messages.length} messages to ${email}`);
    return token;
  });
