import { type AddPasskey, type FactorAdded, fail, type Factors as OwnFactors, type Passkey } from '@parley/contract';
import type { SessionCaller } from '../../../core/caller.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { isUuid } from '../../../core/uuid.ts';
import type { MailQueue } from '../mail-queue.ts';
import type { MailTemplates } from '../mail-templates.ts';
import type { Sessions } from '../sessions.ts';
import { getUser, lockUser } from '../user-store.ts';
import type { Challenges } from './challenges.ts';
import type { Factors } from './factors.ts';
import { deletePasskey, listPasskeys, type PasskeyRow, updatePasskeyName } from './passkey-store.ts';
import { challengeIn, type Passkeys } from './passkeys.ts';
import { countRecoveryCodes } from './recovery-code-store.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';
import type { Totp } from './totp.ts';
import { deleteTotp, findTotp } from './totp-store.ts';
import { deleteLeftovers } from './user-factor-store.ts';

interface OwnFactorsDeps {
  db: Db;
  sessions: Sessions;
  challenges: Challenges;
  factors: Factors;
  totp: Totp;
  passkeys: Passkeys;
  mailQueue: MailQueue;
  templates: MailTemplates;
}

const passkeysMax = 20;
const presented = ({ id, name, createdAt, lastUsedAt }: PasskeyRow): Passkey => ({ id, name, createdAt, lastUsedAt });

/** The factors of the signed-in person: adding and removing them. */
export function createOwnFactors(deps: OwnFactorsDeps) {
  const { db, sessions, challenges, factors, totp, passkeys, mailQueue, templates } = deps;

  async function list({ userId }: SessionCaller): Promise<OwnFactors> {
    const app = await findTotp(db, userId);
    return {
      totp: app?.isConfirmed ? { createdAt: app.createdAt } : null,
      passkeys: (await listPasskeys(db, userId)).map(presented),
      recoveryCodesLeft: await countRecoveryCodes(db, userId),
      passkeysAvailable: passkeys.isAvailable,
    };
  }

  /** Whoever added a factor has proven it; the first one brings recovery codes. */
  async function added(tx: Tx, { userId, sessionId }: SessionCaller): Promise<FactorAdded> {
    await sessions.noteProof(tx, sessionId, { isByFactor: true });
    const hasCodes = (await countRecoveryCodes(tx, userId)) > 0;
    return { recoveryCodes: hasCodes ? null : await renewRecoveryCodes(tx, userId) };
  }

  function tell(caller: SessionCaller, change: 'added' | 'removed', what: string): void {
    sessions.forget([caller.sessionId]);
    mailQueue.later(async () => {
      const user = await getUser(db, caller.userId);
      // An unproven address may be a stranger's.
      return user.emailVerifiedAt === null ? null : templates.factorChanged(user.email, change, what);
    });
  }

  async function confirmTotp(caller: SessionCaller, code: string): Promise<FactorAdded> {
    const answer = await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      await totp.confirm(tx, caller.userId, code);
      return added(tx, caller);
    });
    tell(caller, 'added', 'an authenticator app');
    return answer;
  }

  async function startPasskey({ userId }: SessionCaller) {
    if (!passkeys.isAvailable) fail('SVC_FEATURE_DISABLED');
    const others = await listPasskeys(db, userId);
    if (others.length >= passkeysMax) fail('SVC_FACTOR_EXISTS');
    const user = await getUser(db, userId);
    return passkeys.creation(await challenges.issue(db, 'ADD_PASSKEY', userId), user, others);
  }

  async function addPasskey(caller: SessionCaller, body: AddPasskey) {
    const challenge = challengeIn(body.credential.response.clientDataJSON);
    const answer = await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      const claimed = await challenges.claim(tx, 'ADD_PASSKEY', challenge);
      if (claimed?.userId !== caller.userId) fail('SVC_CHALLENGE_EXPIRED');
      if ((await listPasskeys(tx, caller.userId)).length >= passkeysMax) fail('SVC_FACTOR_EXISTS');
      const passkey = presented(await passkeys.add(tx, caller.userId, body, challenge));
      return { passkey, ...(await added(tx, caller)) };
    });
    tell(caller, 'added', `the passkey “${body.name}”`);
    return answer;
  }

  async function renamePasskey({ userId }: SessionCaller, id: string, name: string): Promise<Passkey> {
    const renamed = isUuid(id) ? await updatePasskeyName(db, userId, id, name) : undefined;
    return presented(renamed ?? fail('SVC_FACTOR_NOT_FOUND'));
  }

  async function remove(caller: SessionCaller, what: string, take: (tx: Tx) => Promise<boolean>): Promise<void> {
    await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      if (!(await take(tx))) fail('SVC_FACTOR_NOT_FOUND');
      await deleteLeftovers(tx, caller.userId);
    });
    tell(caller, 'removed', what);
  }

  return {
    list,
    startTotp: (caller: SessionCaller) =>
      db.transaction((tx) => totp.start(tx, { id: caller.userId, email: caller.email })),
    confirmTotp,
    removeTotp: (caller: SessionCaller) =>
      remove(caller, 'the authenticator app', (tx) => deleteTotp(tx, caller.userId)),
    startPasskey,
    addPasskey,
    renamePasskey,
    removePasskey: (caller: SessionCaller, id: string) =>
      remove(caller, 'a passkey', async (tx) => isUuid(id) && deletePasskey(tx, caller.userId, id)),
    renewCodes: (caller: SessionCaller) =>
      db.transaction(async (tx) => {
        await lockUser(tx, caller.userId);
        if ((await factors.kindsOf(tx, caller.userId)).length === 0) fail('SVC_FACTOR_NOT_FOUND');
        return { recoveryCodes: await renewRecoveryCodes(tx, caller.userId) };
      }),
  };
}
