import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import type { PushSettings, UpdatePushSettings } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, recorded } from '../../core/handlers.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import { refuse } from '../../core/validation.ts';
import { assertScope, type ChatCaller } from '../chat/index.ts';
import {
  findSettings,
  insertSettings,
  listSealedSettings,
  replaceSealedSettings,
  type SettingsChange,
  type SettingsRow,
  updateSettings,
} from './settings-store.ts';

interface SettingsDeps {
  db: Db;
  clock: Clock;
  keyring: Keyring;
  log: Log;
  publicUrl: string;
}

export type Settings = ReturnType<typeof createSettings>;

export function createSettings({ db, clock, keyring, log, publicUrl }: SettingsDeps) {
  /** Push services want a way to reach who sends; some refuse one that names this machine only. */
  const subjectDefault = publicUrl.startsWith('https:') ? publicUrl : 'mailto:push@parley.invalid';

  /** The settings, made with the first look at them. */
  async function load(scope: ProjectScope): Promise<SettingsRow> {
    const found = await findSettings(db, scope);
    if (found) return found;
    const pair = createECDH('prime256v1');
    const vapidPublic = pair.generateKeys('base64url', 'uncompressed');
    // A leading zero may be missing: the curve's numbers have 32 bytes.
    const secret = pair.getPrivateKey().toString('hex').padStart(64, '0');
    const vapidSealed = keyring.seal(Buffer.from(secret, 'hex').toString('base64url'));
    await insertSettings(db, scope, { vapidPublic, vapidSealed, at: iso(clock.now()) });
    return load(scope);
  }

  const shown = (row: SettingsRow): PushSettings => ({
    content: row.content,
    level: row.level,
    webPush: { publicKey: row.vapidPublic, subject: subjectOf(row) },
    fcm: row.fcmSealed === null ? null : { projectId: row.fcmProject ?? '', clientEmail: row.fcmEmail ?? '' },
    apns: row.apnsSealed === null ? null : { teamId: row.apnsTeam ?? '', keyId: row.apnsKeyId ?? '' },
    updatedAt: row.updatedAt,
  });

  const subjectOf = ({ vapidSubject }: SettingsRow): string => vapidSubject ?? subjectDefault;

  const get = async (caller: ProjectScope): Promise<PushSettings> => shown(await load(caller));

  async function getKey(caller: ChatCaller): Promise<{ publicKey: string }> {
    assertScope(caller, 'chat:read');
    return { publicKey: (await load(caller)).vapidPublic };
  }

  async function update(caller: ProjectScope, body: UpdatePushSettings): Promise<Answer<PushSettings>> {
    const change = changeOf(body);
    await load(caller);
    const changed = Object.keys(body);
    if (changed.length > 0) await updateSettings(db, caller, change, iso(clock.now()));
    const { environment } = caller;
    // What changed, never the new values.
    const subject = { resourceId: environment, environment, metadata: { changed } };
    return recorded(await get(caller), changed.length === 0 ? null : subject);
  }

  function changeOf({ content, level, webPushSubject, fcm, apns }: UpdatePushSettings): SettingsChange {
    if (webPushSubject !== undefined && !/^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s]+)$/.test(webPushSubject))
      refuseKey('webPushSubject', 'webPushSubject must be a mailto: or https: address.');
    const sealed = (key: KeyObject): string => keyring.seal(key.export({ type: 'pkcs8', format: 'pem' }).toString());
    return {
      ...(content === undefined ? {} : { content }),
      ...(level === undefined ? {} : { level }),
      ...(webPushSubject === undefined ? {} : { vapidSubject: webPushSubject }),
      ...(fcm === undefined
        ? {}
        : {
            fcmProject: fcm?.project_id ?? null,
            fcmEmail: fcm?.client_email ?? null,
            fcmSealed: fcm ? sealed(readRsaKey(fcm.private_key)) : null,
          }),
      ...(apns === undefined
        ? {}
        : {
            apnsTeam: apns?.teamId ?? null,
            apnsKeyId: apns?.keyId ?? null,
            apnsSealed: apns ? sealed(readCurveKey(apns.key)) : null,
          }),
    };
  }

  /** While SECRET_KEY is rotated: what the one before it sealed is sealed anew. */
  async function renewSealed(): Promise<number> {
    let count = 0;
    if (!keyring.isRotating) return count;
    const renewed = (text: string): string => keyring.renew(text) ?? text;
    const renewedOrNull = (text: string | null): string | null => (text === null ? null : renewed(text));
    for (const { projectId, environment, ...before } of await listSealedSettings(db)) {
      const after = {
        vapidSealed: renewed(before.vapidSealed),
        fcmSealed: renewedOrNull(before.fcmSealed),
        apnsSealed: renewedOrNull(before.apnsSealed),
      };
      const isOld =
        after.vapidSealed !== before.vapidSealed ||
        after.fcmSealed !== before.fcmSealed ||
        after.apnsSealed !== before.apnsSealed;
      if (isOld) count += await replaceSealedSettings(db, { projectId, environment }, before, after);
    }
    if (count > 0) log.info({ environments: count }, 'push keys are sealed with the present SECRET_KEY');
    return count;
  }

  return { get, getKey, update, load, subjectOf, renewSealed };
}

function readRsaKey(text: string): KeyObject {
  const key = parseKey(text);
  return key?.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
    ? key
    : refuseKey('fcm.private_key', 'fcm.private_key must be the RSA key of the service account, in PEM.');
}

function readCurveKey(text: string): KeyObject {
  const key = parseKey(text);
  return key?.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    ? key
    : refuseKey('apns.key', 'apns.key must be the content of the .p8 file that Apple gives.');
}

function parseKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

const refuseKey = (field: string, message: string): never => refuse([{ field, rule: 'key', message }]);
