import type { User } from '@parley/contract';
import { maskedAddress } from '../../core/addresses.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { DeleteSome } from '../../core/delete-in-batches.ts';
import { deviceName, placeName } from './device-name.ts';
import { deleteForgottenDevices, noteDevice } from './device-store.ts';
import type { MailBudget } from './mail-budget.ts';
import type { MailQueue } from './mail-queue.ts';
import type { MailTemplates } from './mail-templates.ts';
import { hashOf, newSecret } from './secrets.ts';

/** A request that signed somebody in. */
interface SignIn {
  user: User;
  /** What the browser's cookie says; undefined in a browser that never signed in here. */
  secret: string | undefined;
  ip: string;
  userAgent: string | null;
  /** It came by a mailed link: who reads the mail knows of it. */
  isByMail: boolean;
}

/** The browsers that people sign in with: one more beside those that are known is mailed to its owner. */
export interface Devices {
  /** Gives what the browser's cookie is to say. */
  note(signIn: SignIn): Promise<string>;
  deleteForgotten: DeleteSome;
}

interface DevicesDeps {
  db: Db;
  clock: Clock;
  mayMail: MailBudget;
  mailQueue: MailQueue;
  templates: MailTemplates;
}

export const deviceTtlSeconds = 365 * 24 * 60 * 60;

export function createDevices({ db, clock, mayMail, mailQueue, templates }: DevicesDeps): Devices {
  return {
    async note({ user, secret, ip, userAgent, isByMail }) {
      const kept = secret !== undefined && /^[\w-]{43}$/.test(secret) ? secret : newSecret();
      const at = iso(clock.now());
      const { isNew, others } = await noteDevice(db, { userId: user.id, deviceHash: hashOf(kept), at });
      // An unproven address may be a stranger's, who has no account to worry about.
      if (isNew && others > 0 && user.emailVerified && !isByMail) {
        const from = { device: deviceName(userAgent), place: placeName(maskedAddress(ip)), at };
        mailQueue.later(async () =>
          (await mayMail('NEW_DEVICE', user.id)) ? templates.newDevice(user.email, from) : null,
        );
      }
      return kept;
    },
    deleteForgotten: (limit) => deleteForgottenDevices(db, iso(clock.now() - deviceTtlSeconds * 1000), limit),
  };
}
