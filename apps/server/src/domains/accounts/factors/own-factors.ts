import {
  type AddPasskey,
  type FactorAdded,
  type FactorKind,
  fail,
  type Factors as OwnFactors,
  type Passkey,
} from '@parley/contract';
import type { SessionCaller } from '../../../core/caller.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { isUuid } from '../../../core/uuid.ts';
import type { MailQueue } from '../mail-queue.ts';
import type { MailTemplates } from '../mail-templates.ts';
import type { Origin, SecurityLog } from '../security-log.ts';
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
  securityLog: SecurityLog;
}

type Kind = Exclude<FactorKind, 'RECOVERY_CODE'>;

const passkeysMax = 20;
const presented = ({ id, name, createdAt, lastUsedAt }: PasskeyRow): Passkey => ({ id, name, createdAt, lastUsedAt });

/** The factors of the signed-in person: adding and removing them. */
export function createOwnFactors(deps: OwnFactorsDeps) {
  const { db, sessions, challenges, factors, totp, passkeys, mailQueue, templates, securityLog } = deps;
  const personOf = ({ userId, email }: SessionCaller) => ({ id: userId, email });

  async function list({ userId }: SessionCaller): Promise<OwnFactors> {
    const app = await findTotp(db, userId);
    return {
      totp: app?.isConfirmed ? { createdAt: app.createdAt } : null,
      passkeys: (await listPasskeys(db, userId)).map(presented),
      recoveryCodesLeft: await countRecoveryCodes(db, userId),
      passkeysAvailable: passkeys.isAvailable,
    };
  }

  /** A person who added a factor has proven it; the first one brings recovery codes. */
  async function added(tx: Tx, { userId, sessionId }: SessionCaller): Promise<FactorAdded> {
    await sessions.noteProof(tx, sessionId, { isByFactor: true });
    const hasCodes = (await countRecoveryCodes(tx, userId)) > 0;
    return { recoveryCodes: hasCodes ? null : await renewRecoveryCodes(tx, userId) };
  }

  /** By mail, and in the security log. */
  async function tell(
    caller: SessionCaller,
    from: Origin,
    { change, factor, what }: { change: 'added' | 'removed'; factor: Kind; what: string },
  ): Promise<void> {
    sessions.forget([caller.sessionId]);
    await securityLog(`account.factor_${change}`, personOf(caller), from, { factor });
    mailQueue.later(async () => {
      const user = await getUser(db, caller.userId);
      // An unproven address may be a stranger's.
      return user.emailVerifiedAt === null ? null : templates.factorChanged(user.email, change, what);
    });
  }

  async function confirmTotp(caller: SessionCaller, code: string, from: Origin): Promise<FactorAdded> {
    const answer = await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      await totp.confirm(tx, caller.userId, code);
      return added(tx, caller);
    });
    await tell(caller, from, { change: 'added', factor: 'TOTP', what: 'an authenticator app' });
    return answer;
  }

  async function startPasskey({ userId }: SessionCaller) {
    if (!passkeys.isAvailable) fail('SVC_FEATURE_DISABLED');
    const others = await listPasskeys(db, userId);
    if (others.length >= passkeysMax) fail('SVC_FACTOR_EXISTS');
    const user = await getUser(db, userId);
    return passkeys.creation(await challenges.issue(db, 'ADD_PASSKEY', userId), user, others);
  }

  async function addPasskey(caller: SessionCaller, body: AddPasskey, from: Origin) {
    const challenge = challengeIn(body.credential.response.clientDataJSON);
    const answer = await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      const claimed = await challenges.claim(tx, 'ADD_PASSKEY', challenge);
      if (claimed?.userId !== caller.userId) fail('SVC_CHALLENGE_EXPIRED');
      if ((await listPasskeys(tx, caller.userId)).length >= passkeysMax) fail('SVC_FACTOR_EXISTS');
      const passkey = presented(await passkeys.add(tx, caller.userId, body, challenge));
      return { passkey, ...(await added(tx, caller)) };
    });
    await tell(caller, from, { change: 'added', factor: 'PASSKEY', what: `the passkey “${body.name}”` });
    return answer;
  }

  async function renamePasskey({ userId }: SessionCaller, id: string, name: string): Promise<Passkey> {
    const renamed = isUuid(id) ? await updatePasskeyName(db, userId, id, name) : undefined;
    return presented(renamed ?? fail('SVC_FACTOR_NOT_FOUND'));
  }

  async function remove(
    caller: SessionCaller,
    from: Origin,
    factor: Kind,
    take: (tx: Tx) => Promise<boolean>,
  ): Promise<void> {
    await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      if (!(await take(tx))) fail('SVC_FACTOR_NOT_FOUND');
      await deleteLeftovers(tx, caller.userId);
    });
    const what = factor === 'TOTP' ? 'the authenticator app' : 'a passkey';
    await tell(caller, from, { change: 'removed', factor, what });
  }

  async function renewCodes(caller: SessionCaller, from: Origin): Promise<{ recoveryCodes: string[] }> {
    const recoveryCodes = await db.transaction(async (tx) => {
      await lockUser(tx, caller.userId);
      if ((await factors.kindsOf(tx, caller.userId)).length === 0) fail('SVC_FACTOR_NOT_FOUND');
      return renewRecoveryCodes(tx, caller.userId);
    });
    await securityLog('account.recovery_codes_renewed', personOf(caller), from);
    return { recoveryCodes };
  }

  return {
    list,
    startTotp: (caller: SessionCaller) =>
      db.transaction((tx) => totp.start(tx, { id: caller.userId, email: caller.email })),
    confirmTotp,
    removeTotp: (caller: SessionCaller, from: Origin) =>
      remove(caller, from, 'TOTP', (tx) => deleteTotp(tx, caller.userId)),
    startPasskey,
    addPasskey,
    renamePasskey,
    removePasskey: (caller: SessionCaller, id: string, from: Origin) =>
      remove(caller, from, 'PASSKEY', async (tx) => isUuid(id) && deletePasskey(tx, caller.userId, id)),
    renewCodes,
  };
}
