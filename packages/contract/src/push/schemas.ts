import { type Static, Type } from 'typebox';
import { Identity, Line, Nullable, Timestamp } from '../schema.ts';

/** How a device is reached: a browser by Web Push, an application by Firebase Cloud Messaging or Apple. */
export const PushKind = Type.Enum(['WEB_PUSH', 'FCM', 'APNS']);
export type PushKind = Static<typeof PushKind>;

/** Which messages a user is told of. MENTIONS: those that mention them, or everybody. */
export const PushLevel = Type.Enum(['ALL', 'MENTIONS', 'OFF']);
export type PushLevel = Static<typeof PushLevel>;

/** What a notification says of a message: nothing but where it is, or who wrote it and how it begins. */
export const PushContent = Type.Enum(['NONE', 'PREVIEW']);
export type PushContent = Static<typeof PushContent>;

/** Which of Apple's two services knows the token: that of the App Store, or that of development builds. */
export const ApnsEnvironment = Type.Enum(['PRODUCTION', 'SANDBOX']);
export type ApnsEnvironment = Static<typeof ApnsEnvironment>;

/** A device of a user. Its address is never shown again: anyone who has it could write to the device. */
export const PushDevice = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  kind: PushKind,
  /** Host of the endpoint, or the last four characters of the token. */
  hint: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type PushDevice = Static<typeof PushDevice>;

export const PutPushDevice = Type.Object({
  kind: PushKind,
  /** Whose it is: for API keys. A chat token speaks for its own user. */
  userId: Type.Optional(Identity),
  /** WEB_PUSH: as `PushSubscription.toJSON()` gives them. */
  endpoint: Type.Optional(Type.String({ maxLength: 2048 })),
  keys: Type.Optional(
    Type.Object({
      p256dh: Type.String({ maxLength: 128 }),
      auth: Type.String({ maxLength: 64 }),
    }),
  ),
  /** FCM and APNS: the registration token. */
  token: Type.Optional(Type.String({ maxLength: 4096 })),
  /** APNS: the bundle id of the application. */
  topic: Type.Optional(Type.String({ maxLength: 256 })),
  /** APNS: PRODUCTION unless given. */
  environment: Type.Optional(ApnsEnvironment),
});
export type PutPushDevice = Static<typeof PutPushDevice>;

/** Between these times of day nothing is sent. `from` after `until` is a night. */
export const QuietHours = Type.Object({
  from: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }),
  until: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }),
  /** IANA name, for example Europe/Berlin. */
  timeZone: Type.String({ minLength: 1, maxLength: 64 }),
});
export type QuietHours = Static<typeof QuietHours>;

export const PushPreferences = Type.Object({
  userId: Type.String(),
  /** Null: as the settings of the environment say. */
  level: Nullable(PushLevel),
  quietHours: Nullable(QuietHours),
});
export type PushPreferences = Static<typeof PushPreferences>;

export const SetPushPreferences = Type.Object({
  userId: Type.Optional(Identity),
  level: Type.Optional(Nullable(PushLevel)),
  quietHours: Type.Optional(Nullable(QuietHours)),
});
export type SetPushPreferences = Static<typeof SetPushPreferences>;

/** What browsers subscribe with: `applicationServerKey`. */
export const PushKey = Type.Object({ publicKey: Type.String() });

/** Of the environment. Private keys are never shown. */
export const PushSettings = Type.Object({
  content: PushContent,
  /** Of users who have chosen none. */
  level: PushLevel,
  webPush: Type.Object({
    publicKey: Type.String(),
    /** Whom push services write to when something is wrong with what we send. */
    subject: Type.String(),
  }),
  fcm: Nullable(Type.Object({ projectId: Type.String(), clientEmail: Type.String() })),
  apns: Nullable(Type.Object({ teamId: Type.String(), keyId: Type.String() })),
  updatedAt: Timestamp,
});
export type PushSettings = Static<typeof PushSettings>;

/** How it goes with one way to reach devices. */
export const PushService = Type.Object({
  kind: PushKind,
  devices: Type.Integer(),
  /** Notifications that are still to be sent. */
  waiting: Type.Integer(),
  /** Of those, the ones that the push service did not take at first. */
  retrying: Type.Integer(),
});
export type PushService = Static<typeof PushService>;

/** What the dashboard shows of notifications: no key, no address, no message. */
export const PushOverview = Type.Object({ settings: PushSettings, services: Type.Array(PushService) });
export type PushOverview = Static<typeof PushOverview>;

export const UpdatePushSettings = Type.Object({
  content: Type.Optional(PushContent),
  level: Type.Optional(PushLevel),
  /** `mailto:` or `https:`. */
  webPushSubject: Type.Optional(Line(1, 256)),
  /** The service account that Firebase's console gives as a JSON file; null removes it. */
  fcm: Type.Optional(
    Nullable(
      Type.Object({
        project_id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-z0-9.:-]+$' }),
        client_email: Type.String({ minLength: 3, maxLength: 256 }),
        private_key: Type.String({ minLength: 1, maxLength: 8192 }),
      }),
    ),
  ),
  /** The key (.p8) that Apple's developer site gives, with its id and your team's; null removes it. */
  apns: Type.Optional(
    Nullable(
      Type.Object({
        teamId: Type.String({ pattern: '^[A-Z0-9]{10}$' }),
        keyId: Type.String({ pattern: '^[A-Z0-9]{10}$' }),
        key: Type.String({ minLength: 1, maxLength: 4096 }),
      }),
    ),
  ),
});
export type UpdatePushSettings = Static<typeof UpdatePushSettings>;
