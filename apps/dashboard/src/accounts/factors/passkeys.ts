import type { AddPasskey, PasskeyAssertion, PasskeyCreation, PasskeyRequest } from '@parley/contract';

/** The browser's own JSON of WebAuthn; older ones have passkeys without it, and are not offered them. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** The person closed the browser's dialog, or there is no passkey for this page. */
export class NoPasskey extends Error {}

async function credentialOf(asking: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await asking.catch(() => null);
  if (credential instanceof PublicKeyCredential) return credential;
  throw new NoPasskey();
}

export async function askForPasskey(options: PasskeyRequest): Promise<PasskeyAssertion> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await credentialOf(navigator.credentials.get({ publicKey }));
  // What the browser's standard says that it writes.
  return credential.toJSON() as PasskeyAssertion;
}

export async function makePasskey(options: PasskeyCreation): Promise<AddPasskey['credential']> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await credentialOf(navigator.credentials.create({ publicKey }));
  // What the browser's standard says that it writes.
  return credential.toJSON() as AddPasskey['credential'];
}
