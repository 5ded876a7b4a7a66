import type { ConnectionQuality, Participant, RtcTokenPermissions, Track } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import type { Tone } from '../kit/badge.tsx';

/** What a token allows, as words. */
export function permissionWords(permissions: RtcTokenPermissions): string {
  const { publish, publishAudio, publishVideo } = permissions;
  const words = [
    permissions.subscribe ? t('rooms.mayWatch') : '',
    publish
      ? t(
          publishAudio === publishVideo
            ? 'rooms.mayPublish'
            : publishAudio
              ? 'rooms.mayPublishAudio'
              : 'rooms.mayPublishVideo',
        )
      : '',
    permissions.publishData ? t('rooms.mayData') : '',
    permissions.updateMetadata ? t('rooms.mayMetadata') : '',
  ].filter((word) => word !== '');
  return words.length === 0 ? t('rooms.mayNothing') : words.join(', ');
}

const sources: Readonly<Record<Track['source'], PlainKey>> = {
  CAMERA: 'words.camera',
  MICROPHONE: 'words.microphone',
  SCREEN_SHARE: 'words.screen',
  SCREEN_SHARE_AUDIO: 'words.screenAudio',
  UNKNOWN: 'words.track',
};
export const sourceName = ({ source, kind }: Track): string =>
  t(source === 'UNKNOWN' ? (kind === 'AUDIO' ? 'words.audio' : 'words.video') : sources[source]);

const inSentence: Readonly<Record<Track['source'], PlainKey>> = {
  CAMERA: 'rooms.sourceCamera',
  MICROPHONE: 'rooms.sourceMicrophone',
  SCREEN_SHARE: 'rooms.sourceScreen',
  SCREEN_SHARE_AUDIO: 'rooms.sourceScreenAudio',
  UNKNOWN: 'rooms.sourceVideo',
};
/** The same within a sentence: where a noun is written small, it is. */
export const sourceInSentence = ({ source, kind }: Track): string =>
  t(source === 'UNKNOWN' && kind === 'AUDIO' ? 'rooms.sourceAudio' : inSentence[source]);

const states: Readonly<Record<Participant['state'], PlainKey>> = {
  JOINING: 'rooms.joining',
  JOINED: 'words.joined',
  ACTIVE: 'words.active',
  DISCONNECTED: 'rooms.disconnected',
};

export const stateWord = (state: Participant['state']): string => t(states[state]);

export const qualities: Readonly<Record<ConnectionQuality, readonly [word: PlainKey, tone: Tone]>> = {
  EXCELLENT: ['rooms.excellent', 'ok'],
  GOOD: ['words.good', 'ok'],
  POOR: ['rooms.poor', 'warn'],
  LOST: ['words.lost', 'bad'],
};
