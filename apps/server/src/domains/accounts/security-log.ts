import type { SecurityAction, SecurityEntry } from '@parley/contract';
import { maskedAddress } from '../../core/addresses.ts';
import type { RequestInfo } from '../../core/handlers.ts';
import { deviceName, placeName } from './device-name.ts';

/** Where what is recorded goes. Never rejects. */
export type RecordSecurity = (
  entry: Omit<SecurityEntry, 'id' | 'action' | 'createdAt'> & { action: SecurityAction },
) => Promise<void>;

/** Who asked: what a log may know of it is made here. */
export type Origin = Pick<RequestInfo, 'id' | 'ip' | 'userAgent'>;

/** Tells the log of an account what happened to it, in words instead of addresses. */
export type SecurityLog = (
  action: SecurityAction,
  user: { id: string; email: string },
  from: Origin,
  metadata?: Record<string, unknown>,
) => Promise<void>;

const deviceMax = 64;

export const createSecurityLog =
  (record: RecordSecurity): SecurityLog =>
  (action, user, { id, ip, userAgent }, metadata = {}) =>
    record({
      action,
      userId: user.id,
      userEmail: user.email,
      device: deviceName(userAgent)?.slice(0, deviceMax) ?? null,
      place: placeName(maskedAddress(ip)),
      metadata,
      requestId: id,
    });
