import { Type } from 'typebox';
import { ForUser } from '../chat/schemas.ts';
import { routes } from '../route.ts';
import {
  PushDevice,
  PushKey,
  PushPreferences,
  PushSettings,
  PutPushDevice,
  SetPushPreferences,
  UpdatePushSettings,
} from './schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const ofUser = ['SVC_SCOPE_MISSING', 'SVC_USER_REQUIRED'] as const;

/** Notifications of chat messages, for users who are not there. */
export const pushRoutes = routes({
  listPushDevices: {
    at: 'GET /v1/chat/devices',
    sdk: 'chat.devices.list',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: ForUser,
    returns: [200, Type.Array(PushDevice)],
    throws: ofUser,
    does: 'Lists the devices of a user, newest first.',
  },
  putPushDevice: {
    at: 'PUT /v1/chat/devices',
    sdk: 'chat.devices.put',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_MANAGE_RATE_LIMIT',
    body: PutPushDevice,
    returns: [200, PushDevice],
    throws: ofUser,
    does: 'Registers a device of a user. One that is known already is renewed, and belongs to this user from now on; of too many the oldest is dropped.',
  },
  deletePushDevice: {
    at: 'DELETE /v1/chat/devices/{deviceId}',
    sdk: 'chat.devices.delete',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_MANAGE_RATE_LIMIT',
    returns: [204, null],
    throws: ['SVC_SCOPE_MISSING', 'SVC_DEVICE_NOT_FOUND'],
    does: 'Removes a device: it gets nothing more.',
  },
  getPushPreferences: {
    at: 'GET /v1/chat/push/preferences',
    sdk: 'chat.push.getPreferences',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: ForUser,
    returns: [200, PushPreferences],
    throws: ofUser,
    does: 'Reads which messages a user is told of, and when not.',
  },
  setPushPreferences: {
    at: 'PATCH /v1/chat/push/preferences',
    sdk: 'chat.push.setPreferences',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_MANAGE_RATE_LIMIT',
    body: SetPushPreferences,
    returns: [200, PushPreferences],
    throws: ofUser,
    does: 'Sets which messages a user is told of, and when not; null is the default of the environment.',
  },
  getPushKey: {
    at: 'GET /v1/chat/push/key',
    sdk: 'chat.push.getKey',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    returns: [200, PushKey],
    throws: ['SVC_SCOPE_MISSING'],
    does: 'Reads the public key that browsers subscribe to Web Push with.',
  },
  getPushSettings: {
    at: 'GET /v1/chat/push/settings',
    sdk: 'chat.push.getSettings',
    scope: 'chat',
    by: ['apiKey'],
    returns: [200, PushSettings],
    does: 'Reads how notifications of this environment are sent.',
  },
  updatePushSettings: {
    at: 'PATCH /v1/chat/push/settings',
    sdk: 'chat.push.updateSettings',
    scope: 'chat',
    by: ['apiKey'],
    budget: 60,
    audit: 'push.updated',
    body: UpdatePushSettings,
    returns: [200, PushSettings],
    does: 'Changes how notifications of this environment are sent: whether they show content, and the keys for FCM and APNs.',
  },
});
