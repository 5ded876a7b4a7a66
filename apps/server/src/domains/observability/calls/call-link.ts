import { type Environment, fail } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Keyring } from '../../../core/keyring.ts';

export interface CallLinkDeps {
  keyring: Keyring;
  clock: Clock;
  publicUrl: string;
}

const lifeMs = 24 * 60 * 60 * 1000;
const purpose = 'call-link';
const macBytes = 32;

export type CallLinks = ReturnType<typeof createCallLinks>;

type Body = [projectId: string, environment: Environment, callId: string, withoutNames: boolean, expiresAt: number];

/** Signed links to one call. What they name and hide is in the signature; they end by themselves. */
export function createCallLinks({ keyring, clock, publicUrl }: CallLinkDeps) {
  return {
    write({ projectId, environment }: ProjectScope, callId: string, withoutNames: boolean) {
      const expiresAt = clock.now() + lifeMs;
      const body = JSON.stringify([projectId, environment, callId, withoutNames, expiresAt] satisfies Body);
      const mac = keyring.mac(purpose, body).subarray(0, macBytes);
      const token = Buffer.concat([mac, Buffer.from(body)]).toString('base64url');
      // Behind the hash: it is in no log of a server or proxy, and no referrer.
      return { url: `${publicUrl}/shared-call#${token}`, expiresAt: iso(expiresAt) };
    },
    read(token: string): { scope: ProjectScope; id: string; withoutNames: boolean } {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length <= macBytes || bytes.toString('base64url') !== token) fail('SVC_INVALID_TOKEN_LINK');
      const body = bytes.subarray(macBytes).toString();
      if (!keyring.isMac(purpose, body, bytes.subarray(0, macBytes), macBytes)) fail('SVC_INVALID_TOKEN_LINK');
      const [projectId, environment, id, withoutNames, expiresAt] = JSON.parse(body) as Body;
      if (expiresAt <= clock.now()) fail('SVC_INVALID_TOKEN_LINK');
      return { scope: { projectId, environment }, id, withoutNames };
    },
  };
}
