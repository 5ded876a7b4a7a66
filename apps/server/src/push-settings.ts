import { mapped, record } from '@parley/contract/settings';
import { url } from './setting-kinds.ts';

const withoutEndSlash = (address: string): string => address.replace(/\/+$/, '');

/** Addresses of others: they change for a proxy that may reach them, and in tests. */
export const push = record({
  fcm: record({
    api: mapped(
      url('PUSH_FCM_URL', ['http:', 'https:'], {
        default: 'https://fcm.googleapis.com',
        means: 'Where notifications for Firebase Cloud Messaging go.',
      }),
      withoutEndSlash,
    ),
    token: url('PUSH_FCM_TOKEN_URL', ['http:', 'https:'], {
      default: 'https://oauth2.googleapis.com/token',
      means: 'Where service accounts of Firebase get their access tokens.',
    }),
  }),
  apns: record({
    PRODUCTION: mapped(
      url('PUSH_APNS_URL', ['http:', 'https:'], {
        default: 'https://api.push.apple.com',
        means: 'Where notifications for Apple devices go.',
      }),
      withoutEndSlash,
    ),
    SANDBOX: mapped(
      url('PUSH_APNS_SANDBOX_URL', ['http:', 'https:'], {
        default: 'https://api.sandbox.push.apple.com',
        means: 'The same for devices with development builds.',
      }),
      withoutEndSlash,
    ),
  }),
});
