import { type Static, Type } from 'typebox';
import { Line, Nullable, Timestamp, Uuid } from '../schema.ts';

/** Bytes as WebAuthn writes them in JSON. */
const Base64Url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' });
const credentialId = Base64Url(1400);
const passkeyName = Line(1, 64);

export const FactorKind = Type.Enum(['TOTP', 'PASSKEY', 'RECOVERY_CODE']);
export type FactorKind = Static<typeof FactorKind>;

/** What a browser needs to ask for a passkey: `PublicKeyCredential.parseRequestOptionsFromJSON` takes it. */
const assertionOptions = {
  /** Good once, for ten minutes. */
  challenge: Type.String(),
  rpId: Type.String(),
  allowCredentials: Type.Array(Type.Object({ type: Type.Literal('public-key'), id: Type.String() })),
  userVerification: Type.Enum(['required', 'preferred']),
  timeout: Type.Integer(),
};
export const PasskeyRequest = Type.Object(assertionOptions);
export type PasskeyRequest = Static<typeof PasskeyRequest>;

/** What a person can prove themselves with, and what a browser needs for a passkey. */
export const FactorChallenge = Type.Object({ ...assertionOptions, factors: Type.Array(FactorKind) });
export type FactorChallenge = Static<typeof FactorChallenge>;

/** A passkey's answer, as `toJSON()` of the browser's credential writes it. */
export const PasskeyAssertion = Type.Object({
  id: credentialId,
  rawId: credentialId,
  type: Type.Literal('public-key'),
  response: Type.Object({
    clientDataJSON: Base64Url(8_192),
    authenticatorData: Base64Url(8_192),
    signature: Base64Url(8_192),
  }),
});
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;

/** One of them. */
const proof = {
  /** Six digits of the authenticator app. */
  code: Type.Optional(Type.String({ maxLength: 16 })),
  recoveryCode: Type.Optional(Type.String({ maxLength: 64 })),
  passkey: Type.Optional(PasskeyAssertion),
};
export const FactorProof = Type.Object(proof);
export type FactorProof = Static<typeof FactorProof>;
export const SecondFactor = Type.Object({ challenge: Base64Url(64), ...proof });
export type SecondFactor = Static<typeof SecondFactor>;
/** `password` counts for accounts that have no second factor. */
export const StepUp = Type.Object({ ...proof, password: Type.Optional(Type.String({ maxLength: 128 })) });
export type StepUp = Static<typeof StepUp>;
export const PasskeyLogin = Type.Object({ passkey: PasskeyAssertion });

export const Passkey = Type.Object({
  id: Uuid,
  name: Type.String(),
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
});
export type Passkey = Static<typeof Passkey>;

export const Factors = Type.Object({
  totp: Nullable(Type.Object({ createdAt: Timestamp })),
  passkeys: Type.Array(Passkey),
  recoveryCodesLeft: Type.Integer(),
  /** False where PUBLIC_URL names an address instead of a host: browsers make no passkeys for those. */
  passkeysAvailable: Type.Boolean(),
});
export type Factors = Static<typeof Factors>;

export const TotpStarted = Type.Object({
  /** Base32, to be typed into an app. */
  secret: Type.String(),
  otpauthUrl: Type.String(),
});
export type TotpStarted = Static<typeof TotpStarted>;
export const TotpCode = Type.Object({ code: Type.String({ pattern: '^[0-9]{6}$' }) });

/** Shown once. Null when the account has some already. */
const recoveryCodes = Nullable(Type.Array(Type.String()));
export const FactorAdded = Type.Object({ recoveryCodes });
export type FactorAdded = Static<typeof FactorAdded>;
export const RecoveryCodes = Type.Object({ recoveryCodes: Type.Array(Type.String()) });

/** What a browser needs to make a passkey: `PublicKeyCredential.parseCreationOptionsFromJSON` takes it. */
export const PasskeyCreation = Type.Object({
  challenge: Type.String(),
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
  excludeCredentials: Type.Array(Type.Object({ type: Type.Literal('public-key'), id: Type.String() })),
  authenticatorSelection: Type.Object({
    residentKey: Type.Literal('preferred'),
    userVerification: Type.Literal('preferred'),
  }),
  attestation: Type.Literal('none'),
  timeout: Type.Integer(),
});
export type PasskeyCreation = Static<typeof PasskeyCreation>;

export const AddPasskey = Type.Object({
  name: passkeyName,
  credential: Type.Object({
    id: credentialId,
    rawId: credentialId,
    type: Type.Literal('public-key'),
    response: Type.Object({ clientDataJSON: Base64Url(8_192), attestationObject: Base64Url(65_536) }),
  }),
});
export type AddPasskey = Static<typeof AddPasskey>;
export const PasskeyAdded = Type.Object({ passkey: Passkey, recoveryCodes });
export type PasskeyAdded = Static<typeof PasskeyAdded>;
export const RenamePasskey = Type.Object({ name: passkeyName });
