import { isSvcError, Svc, type WebhookEvent } from '@parley/server';
import type { Log } from '../core/log.ts';
import { demoName, demoUsers } from './demo-data.ts';
import type { DevEnv } from './dev-env.ts';
import { devEmail } from './first-run.ts';
import { createOneTimeLink } from './one-time-link.ts';

interface DevelopmentDeps {
  seedAccount(account: {
    email: string;
    password: string;
    name: string;
  }): Promise<{ accessToken: string; cookie: string }>;
  log: Log;
}

/** What development mode has beside the service: the sign-in link, the receiver of events and the demo's people. */
export function createDevelopment({ seedAccount, log }: DevelopmentDeps) {
  const link = createOneTimeLink();
  let known: { env: DevEnv; svc: Svc } | null = null;
  let demoId: string | null = null;
  let webhookSecret = '';

  const account = (password: string) => ({ email: devEmail, password, name: 'Developer' });

  return {
    landing: '/playground/room/demo',
    signInAs: async (_email: string, password: string): Promise<string> =>
      (await seedAccount(account(password))).accessToken,

    /** The first run is through: from here on links work and events are answered. Gives the code of a new link. */
    begin({ env, url }: { env: DevEnv; url: string }): string {
      known = { env, svc: new Svc({ apiKey: env.SVC_API_KEY, baseUrl: url }) };
      return link.renew();
    },

    /** The demo project's client, once the first run is through. */
    svc: (): Svc | null => known?.svc ?? null,

    async signIn(code: string): Promise<string | null> {
      if (known === null || !link.take(code)) return null;
      return (await seedAccount(account(known.env.SVC_DEV_PASSWORD))).cookie;
    },

    /** From here on events are verified: the demo's own come before the first run is through. */
    receiveWith(secret: string): void {
      webhookSecret = secret;
    },
    secret: (): string => webhookSecret,

    /** A demo user reacts to messages of others: a newcomer sees a webhook, a call and a live frame at work. */
    async onEvent(event: WebhookEvent): Promise<void> {
      if (event.type !== 'message.created' || known === null) return;
      const { id, senderId, conversationId } = event.data.message;
      if (senderId === null || demoUsers.some((user) => user === senderId)) return;
      try {
        demoId ??= (await known.svc.chat.conversations.get(demoName)).id;
        if (conversationId !== demoId) return;
        await known.svc.chat.reactions.add(id, { emoji: '👋', userId: demoUsers[0] });
      } catch (error) {
        // The message or the conversation is gone, and the reaction with it.
        if (!isSvcError(error)) throw error;
        log.debug({ code: error.code }, 'the demo did not answer');
      }
    },
  };
}
