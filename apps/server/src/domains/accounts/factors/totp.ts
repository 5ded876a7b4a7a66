import { fail, type TotpStarted } from '@parley/contract';
import { Secret, TOTP } from 'otpauth';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Tx } from '../../../core/db.ts';
import type { Keyring } from '../../../core/keyring.ts';
import { confirmTotp, findTotp, replaceUnconfirmedTotp, takeTotpStep } from './totp-store.ts';

/** Codes of an authenticator app (RFC 6238): six digits of 30 seconds, taken once each. */
export type Totp = ReturnType<typeof createTotp>;

const periodSeconds = 30;
/** Steps that a clock may be off, to either side. */
const stepsOff = 1;

const generator = (secret: Secret, label = ''): TOTP =>
  new TOTP({ issuer: 'Parley', label, secret, algorithm: 'SHA1', digits: 6, period: periodSeconds });

export function createTotp({ clock, keyring }: { clock: Clock; keyring: Keyring }) {
  /** The time step whose code this is. */
  function stepOf(secret: string, code: string): number | null {
    const timestamp = clock.now();
    const token = code.replaceAll(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return null;
    const off = generator(Secret.fromBase32(keyring.unseal(secret))).validate({ token, timestamp, window: stepsOff });
    return off === null ? null : Math.floor(timestamp / 1000 / periodSeconds) + off;
  }

  async function isTaken(tx: Tx, userId: string, secret: string, code: string): Promise<boolean> {
    const step = stepOf(secret, code);
    return step !== null && (await takeTotpStep(tx, userId, step));
  }

  return {
    async start(tx: Tx, { id, email }: { id: string; email: string }): Promise<TotpStarted> {
      const secret = new Secret({ size: 20 });
      const sealed = keyring.seal(secret.base32);
      const isStored = await replaceUnconfirmedTotp(tx, { userId: id, secret: sealed, createdAt: iso(clock.now()) });
      if (!isStored) fail('SVC_FACTOR_EXISTS');
      return { secret: secret.base32, otpauthUrl: generator(secret, email).toString() };
    },
    async confirm(tx: Tx, userId: string, code: string): Promise<void> {
      const stored = await findTotp(tx, userId);
      if (stored?.isConfirmed) fail('SVC_FACTOR_EXISTS');
      if (!stored || !(await isTaken(tx, userId, stored.secret, code))) fail('SVC_INVALID_SECOND_FACTOR');
      await confirmTotp(tx, userId, iso(clock.now()));
    },
    /** Takes a code of a confirmed app; false when it is wrong or was taken. */
    async take(tx: Tx, userId: string, code: string): Promise<boolean> {
      const stored = await findTotp(tx, userId);
      return stored?.isConfirmed === true && (await isTaken(tx, userId, stored.secret, code));
    },
  };
}
