import type { FastifyInstance } from 'fastify';
import type { IsOwnHost } from '../core/hosts.ts';
import { onlyAt } from './own-host.ts';
import { page, sendPage } from './page.ts';

export interface DevLoginDeps {
  /** Takes the one-time code; gives the cookies of a session, or null when the code is wrong, used or expired. */
  signIn: (code: string) => Promise<string | null>;
  /** Where a newcomer begins. */
  landing: string;
}

/** Shows the dashboard, whose scripts cannot read the session's cookie, that there is a session. */
const hintCookie = 'parley_has_session=1; Path=/; SameSite=Strict; Max-Age=2592000';

/** The printed link: signs the developer of this machine in, once. Never mounted in production. */
export function mountDevLogin(app: FastifyInstance, { signIn, landing }: DevLoginDeps, isOwnHost: IsOwnHost): void {
  app.get('/dev/login', { onRequest: onlyAt(isOwnHost) }, async (request, reply) => {
    const { code } = request.query as { code?: unknown };
    const cookie = typeof code === 'string' ? await signIn(code) : null;
    if (cookie === null) return sendPage(reply.code(403), usedPage);
    return reply
      .code(303)
      .header('set-cookie', [cookie, hintCookie])
      .headers({ location: landing, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
      .send();
  });
}

const usedPage = page(
  'Sign in',
  `<header><h1>This link was used</h1></header><main id="content"><p>A sign-in link works once. Start the service again for a new one, or <a href="/login">sign in</a> as dev@localhost with the password in <code>.parley/dev.env</code>.</p></main>`,
);
