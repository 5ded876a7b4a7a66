import type { ConnectionQuality, Participant, RtcTokenPermissions, Track } from '@parley/contract';
import type { Tone } from '../kit/badge.tsx';

/** What a token allows, as words. */
export function permissionWords(permissions: RtcTokenPermissions): string {
  const { publish, publishAudio, publishVideo } = permissions;
  const kinds = publishAudio === publishVideo ? '' : publishAudio ? ' audio' : ' video';
  const words = [
    permissions.subscribe ? 'watch' : '',
    publish ? `publish${kinds}` : '',
    permissions.publishData ? 'data' : '',
    permissions.updateMetadata ? 'metadata' : '',
  ].filter((word) => word !== '');
  return words.length === 0 ? 'nothing' : words.join(', ');
}

const sources: Readonly<Record<Track['source'], string>> = {
  CAMERA: 'Camera',
  MICROPHONE: 'Microphone',
  SCREEN_SHARE: 'Screen',
  SCREEN_SHARE_AUDIO: 'Screen audio',
  UNKNOWN: 'Track',
};
export const sourceName = ({ source, kind }: Track): string =>
  source === 'UNKNOWN' ? (kind === 'AUDIO' ? 'Audio' : 'Video') : sources[source];

export const stateWords: Readonly<Record<Participant['state'], string>> = {
  JOINING: 'Joining',
  JOINED: 'Joined',
  ACTIVE: 'Active',
  DISCONNECTED: 'Disconnected',
};

export const qualityWords: Readonly<Record<ConnectionQuality, readonly [word: string, tone: Tone]>> = {
  EXCELLENT: ['Excellent', 'ok'],
  GOOD: ['Good', 'ok'],
  POOR: ['Poor', 'warn'],
  LOST: ['Lost', 'bad'],
};
