import type { Canary } from './leak-search.ts';
import { chosen, type Mode } from './outside.ts';
import type { Scene } from './scene.ts';
import type { Workload } from './workload.ts';

interface CanaryRow {
  planted: string;
  /** All of it, as a careless caller would paste it; several where one act gives several. */
  whole: (workload: Workload, scene: Scene) => string | readonly string[] | undefined;
  /** The only pieces of any sink that may show it. */
  shownBy: readonly string[];
  /** Where it exists in one mode only. */
  only?: Mode;
  /** The row whose secret stands for these in wrong places: nobody who refuses them could tell one from the other. */
  like?: string;
}

const setting = (name: string, secret: string, more: Partial<CanaryRow> = {}): CanaryRow => ({
  planted: `set as ${name}`,
  whole: () => secret,
  shownBy: [],
  ...more,
});
const production = { only: 'production' } as const;
const embedded = { only: 'embedded' } as const;
// One with signs that a URL must escape.
const anyText = { like: 'mail password' } as const;
const anyHookSecret = { like: 'webhook secret' } as const;
const anySignature = { like: 'download signature' } as const;
const anyRtcToken = { like: 'RTC tokens' } as const;
const anyRefreshToken = { like: 'refresh tokens' } as const;
const signIns = ['login', 'verifyEmail', 'confirmPasswordReset', 'refreshSession'].map((name) => `answer to ${name}`);

/** Every kind of secret there is: how it came into the world, and who may be shown it. */
export const canaryRows: Readonly<Record<string, CanaryRow>> = {
  'signing root': setting('SECRET_KEY', chosen.secretKey, anyText),
  'media node secret': setting('SFU_REGISTRATION_SECRET', chosen.sfuSecret, { shownBy: ['file dev.env'] }),
  'former media node secret': setting('SFU_REGISTRATION_SECRET', chosen.formerSfuSecret, { like: 'media node secret' }),
  'TURN secret': setting('RTC_TURN_SECRET', chosen.turnSecret, anyText),
  'mail password': setting('SMTP_URL', chosen.smtpPassword),
  'collector key': setting('OTEL_EXPORTER_OTLP_HEADERS', chosen.traceHeader, {
    shownBy: ['headers at the collector'],
    ...anyText,
  }),
  'Google secret': setting('OAUTH_GOOGLE_CLIENT_SECRET', chosen.googleSecret, anyText),
  'GitHub secret': setting('OAUTH_GITHUB_CLIENT_SECRET', chosen.githubSecret, anyText),
  'OIDC secret': {
    planted: 'set as OAUTH_OIDC_CLIENT_SECRET',
    whole: (_workload, { outside }) => outside.oidc.clientSecret,
    shownBy: [],
    ...anyText,
  },
  'S3 secret': setting('S3_SECRET_ACCESS_KEY', chosen.s3Secret, { ...production, ...anyText }),
  'database password': setting('DATABASE_URL', chosen.databasePassword, { ...production, ...anyText }),
  'Redis password': setting('REDIS_URL', chosen.redisPassword, { ...production, ...anyText }),
  'playground key': setting('PLAYGROUND_API_KEY', chosen.playgroundSecret, production),

  password: { planted: 'typed at registration', whole: ({ account }) => account.password, shownBy: [], ...anyText },
  'mistyped password': {
    planted: 'refused at sign-in',
    whole: ({ account }) => account.mistyped,
    shownBy: [],
    ...anyText,
  },
  'new password': { planted: 'set by reset link', whole: ({ account }) => account.newPassword, shownBy: [] },
  'verification token': { planted: 'mailed', whole: ({ account }) => account.verifyToken, shownBy: ['letter'] },
  'reset token': { planted: 'mailed', whole: ({ account }) => account.resetToken, shownBy: ['letter'] },
  'session token': { planted: 'sign-in', whole: ({ account }) => account.accessToken, shownBy: signIns },
  'refresh tokens': {
    planted: 'sign-in; one is rotated, and the one before it used again',
    whole: ({ account }) => [account.refreshToken, account.stolenRefreshToken, account.rotatedRefreshToken],
    shownBy: signIns,
  },
  'OAuth code': { planted: 'given by the provider', whole: ({ provider }) => provider?.code, shownBy: [], ...embedded },
  'wrong OAuth code': {
    planted: 'refused by it',
    whole: ({ provider }) => provider?.wrongCode,
    shownBy: [],
    ...anyText,
    ...embedded,
  },
  'OAuth state': {
    planted: 'start of a sign-in',
    whole: ({ provider }) => [provider?.state ?? '', provider?.flowCookie ?? ''],
    shownBy: ['answer to startOAuth'],
    ...embedded,
  },
  'OAuth session': {
    planted: 'end of that sign-in',
    whole: ({ provider }) => [provider?.accessToken ?? '', provider?.refreshToken ?? ''],
    shownBy: ['answer to exchangeOAuth'],
    like: 'session token',
    ...embedded,
  },

  'sign-in link': {
    planted: 'printed by npm start',
    whole: ({ development }) => development?.code,
    shownBy: ['printed line'],
    ...embedded,
  },
  'linked session': {
    planted: 'sign-in by that link',
    whole: ({ development }) => development?.refreshToken,
    shownBy: ['answer to GET /dev/login'],
    ...anyRefreshToken,
    ...embedded,
  },
  'first key': {
    planted: 'made by the first start',
    whole: ({ development }) => development?.apiKey,
    shownBy: ['printed line', 'file dev.env'],
    like: 'API keys',
    ...embedded,
  },
  'first password': {
    planted: 'made by the first start',
    whole: ({ development }) => development?.password,
    shownBy: ['file dev.env'],
    ...anyText,
    ...embedded,
  },
  'first webhook secret': {
    planted: 'made by the first start',
    whole: ({ development }) => development?.webhookSecret,
    shownBy: ['file dev.env'],
    ...anyHookSecret,
    ...embedded,
  },

  'API keys': {
    planted: 'created, with a repeat of the request; one is revoked',
    whole: ({ keys }) => [keys.apiKey, keys.revokedKey],
    shownBy: ['answer to createApiKey'],
  },
  'signing keys': {
    planted: 'created, with a repeat of the request; one is revoked',
    whole: ({ signing }) => [signing.key, signing.revokedKey],
    shownBy: ['answer to createSigningKey'],
  },
  'tokens signed by a backend': {
    planted: 'minted without a call and used',
    whole: ({ signing }) => signing.chatToken,
    shownBy: [],
  },
  'authenticator secret': {
    planted: 'started and confirmed, with a wrong code before',
    whole: ({ factors }) => factors.totpSecret,
    shownBy: ['answer to startTotp'],
  },
  'recovery codes': {
    planted: 'given with the first factor, one used to sign in; then renewed',
    whole: ({ factors }) => [factors.usedCode, factors.renewedCode],
    shownBy: ['answer to confirmTotp', 'answer to renewRecoveryCodes'],
  },
  'sign-in challenge': {
    planted: 'a password without its second factor',
    whole: ({ factors }) => factors.challenge,
    shownBy: ['refusal of login'],
  },
  'webhook secret': {
    planted: 'created',
    whole: ({ webhook }) => webhook.secret,
    shownBy: ['answer to createWebhook'],
  },
  'rotated webhook secret': {
    planted: 'rotated, with a repeat of the request',
    whole: ({ webhook }) => webhook.rotatedSecret,
    shownBy: ['answer to rotateWebhookSecret'],
    ...anyHookSecret,
  },
  'hook secret': {
    planted: 'made with the pre-send hook',
    whole: ({ chat }) => chat.hookSecret,
    shownBy: ['answer to setModerationHook'],
    ...anyHookSecret,
  },
  'scan hook secret': {
    planted: 'made with the scan hook, which is asked about a file',
    whole: ({ chat }) => chat.scanner.secret,
    shownBy: ['answer to setScanHook'],
    ...anyHookSecret,
  },
  'scan signature': {
    planted: 'in the URL that gives the file to the scanner',
    whole: ({ chat }) => chat.scanner.signature,
    shownBy: ['webhook request'],
    ...anySignature,
  },
  'webhook header values': {
    planted: 'given at creation and by a change; the endpoint answers with them',
    whole: ({ webhook }) => [webhook.headerValue, webhook.newHeaderValue],
    shownBy: ['webhook request'],
    ...anyText,
  },

  'RTC tokens': {
    planted: 'minted; joins, WHIP, WHEP, one revoked',
    whole: ({ media }) => [media.token, media.whipToken, media.whepToken, media.revokedToken],
    shownBy: ['answer to mintRtcToken'],
  },
  'test token': {
    planted: 'minted',
    whole: ({ media }) => media.testToken,
    shownBy: ['answer to mintTestToken'],
    ...anyRtcToken,
  },
  'TURN credential': {
    planted: 'minted with an RTC token',
    whole: ({ media }) => media.turnCredential,
    shownBy: ['answer to mintRtcToken', 'frame joined'],
  },
  'resume token': { planted: 'joining', whole: ({ media }) => media.resumeToken, shownBy: ['frame joined'] },
  'ICE passwords': {
    planted: 'answers to SDP offers',
    whole: ({ media }) => media.icePasswords,
    shownBy: ['answer to publishByWhip', 'answer to watchByWhep'],
  },
  'chat tokens': {
    planted: 'minted; upgrade, first frame, refresh',
    whole: ({ chat }) => [chat.token, chat.refreshedToken],
    shownBy: ['answer to mintChatToken'],
  },
  'upload signature': {
    planted: 'in the URL that takes the file',
    whole: ({ chat }) => chat.uploadSignature,
    shownBy: ['answer to requestAttachment'],
    ...anySignature,
  },
  'download signature': {
    planted: 'in the URL that gives it',
    whole: ({ chat }) => chat.downloadSignature,
    shownBy: ['answer to getAttachmentDownload'],
  },
  'host tokens': {
    planted: 'minted',
    whole: ({ streams }) => streams.hostTokens,
    shownBy: ['answer to registerHost'],
    ...anyRtcToken,
  },
  'viewer tokens': {
    planted: 'minted',
    whole: ({ streams }) => streams.viewerTokens,
    shownBy: ['answer to createViewerToken'],
    ...anyRtcToken,
  },
};

/** A canary, and all of what was given where the secret is only a part of it. */
export interface Planted extends Canary {
  whole: string;
  /** Whether another one, of its row or of the one that it is like, stands for it in wrong places. */
  hasStandIn: boolean;
}

/** The rows of this mode with the values that the workload received. */
export const plantedIn = (workload: Workload, scene: Scene): Planted[] =>
  Object.entries(canaryRows)
    .filter(([, { only = scene.mode }]) => only === scene.mode)
    .flatMap(([name, { whole, shownBy, like }]) =>
      [whole(workload, scene) ?? ''].flat().map((value, index) => ({
        name,
        shownBy: placesIn(scene.mode, shownBy),
        whole: value,
        secret: secretOf(value),
        hasStandIn: like !== undefined || index > 0,
      })),
    );

/** Only development mode writes secrets into files. */
const placesIn = (mode: Mode, places: readonly string[]): readonly string[] =>
  mode === 'embedded' ? places : places.filter((place) => !place.startsWith('file '));

/** Of a signed token the signature, of a key what is behind its point. */
const secretOf = (whole: string): string => /^(?:s[vg]k_\w+|[\w-]+\.[\w-]+)\.([\w-]+)$/.exec(whole)?.[1] ?? whole;
