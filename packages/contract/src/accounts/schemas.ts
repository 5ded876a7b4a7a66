import { type Static, Type } from 'typebox';
import { Email } from '../projects/schemas.ts';
import { Line, Nullable, Timestamp, Uuid } from '../schema.ts';

export const User = Type.Object({
  id: Uuid,
  email: Type.String(),
  name: Nullable(Type.String()),
  emailVerified: Type.Boolean(),
  isOperator: Type.Boolean(),
  createdAt: Timestamp,
});
export type User = Static<typeof User>;

export const Password = Type.String({ minLength: 8, maxLength: 128 });

/** Who may make an account: anybody, who was invited to a project, or nobody. */
export const RegistrationPolicy = Type.Enum(['OPEN', 'INVITE', 'CLOSED']);
export type RegistrationPolicy = Static<typeof RegistrationPolicy>;
export const Registration = Type.Object({
  policy: RegistrationPolicy,
  /** Only addresses of these; empty: of any. */
  domains: Type.Array(Type.String()),
  verificationRequired: Type.Boolean(),
  /** False where no mail server is set: no address can be proven, no password reset. */
  sendsMail: Type.Boolean(),
});

export const Register = Type.Object({ email: Email, password: Password, name: Type.Optional(Line(0, 128)) });
export type Register = Static<typeof Register>;

/** The same for an address that is known already: only the mail differs. */
export const Registered = Type.Object({
  user: Type.Object({ email: Type.String(), name: Nullable(Type.String()) }),
  verificationRequired: Type.Boolean(),
});

export const Login = Type.Object({ email: Type.String({ maxLength: 254 }), password: Type.String({ maxLength: 128 }) });
export type Login = Static<typeof Login>;

export const Session = Type.Object({
  accessToken: Type.String(),
  tokenType: Type.Literal('Bearer'),
  expiresIn: Type.Integer(),
  user: User,
});
export type Session = Static<typeof Session>;

/** A sign-in that is still good, as its owner sees it. */
export const AccountSession = Type.Object({
  id: Uuid,
  /** The session this was asked with. */
  current: Type.Boolean(),
  userAgent: Nullable(Type.String()),
  /** Browser and system, as `userAgent` tells them. */
  device: Nullable(Type.String()),
  /** Without its last part. */
  ip: Nullable(Type.String()),
  /** The network that the address belongs to, or what it is to this machine. */
  place: Nullable(Type.String()),
  createdAt: Timestamp,
  /** When it last signed in or renewed its token. */
  lastSeenAt: Timestamp,
  expiresAt: Timestamp,
});
export type AccountSession = Static<typeof AccountSession>;

export const MailToken = Type.String({ minLength: 1, maxLength: 256 });
/** What comes with the token is the account's from then on; what was registered before is not. */
export const VerifyEmail = Type.Object({
  token: MailToken,
  password: Type.Optional(Password),
  name: Type.Optional(Line(0, 128)),
});
export type VerifyEmail = Static<typeof VerifyEmail>;
/** Who makes the first account of an instance, with the token of the link that its server printed. */
export const FirstAccount = Type.Object({
  token: MailToken,
  email: Email,
  password: Password,
  name: Type.Optional(Line(0, 128)),
});
export type FirstAccount = Static<typeof FirstAccount>;
export const TokenOnly = Type.Object({ token: MailToken });
export const VerificationLink = Type.Object({ email: Type.String(), expiresAt: Timestamp });
export const EmailOnly = Type.Object({ email: Email });
export const ResetPassword = Type.Object({ token: MailToken, password: Password });
export const ChangePassword = Type.Object({ currentPassword: Type.String({ maxLength: 128 }), password: Password });
export type ChangePassword = Static<typeof ChangePassword>;
export const Accepted = Type.Object({ accepted: Type.Literal(true) });

export const OAuthProvider = Type.Object({ provider: Type.String(), label: Type.String() });
export type OAuthProvider = Static<typeof OAuthProvider>;

export const OAuthStart = Type.Object({
  redirectUri: Type.String({ minLength: 1, maxLength: 2048 }),
  state: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
});
export type OAuthStart = Static<typeof OAuthStart>;
export const OAuthStarted = Type.Object({ authorizationUrl: Type.String(), state: Type.String() });

export const OAuthExchange = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 2048 }),
  state: Type.String({ minLength: 1, maxLength: 512 }),
  redirectUri: Type.String({ minLength: 1, maxLength: 2048 }),
  /** What the provider sent beside the code (RFC 9207), if it did. */
  iss: Type.Optional(Type.String({ maxLength: 2048 })),
});
export type OAuthExchange = Static<typeof OAuthExchange>;
