import { type FrameData, fail, type Limits, type ReplyTo, type SignalingClientFrames } from '@parley/contract';
import type { MediaCommandName, MediaCommands, MediaSubscribeResult } from '@parley/contract/media-control';
import { asServiceError, type Nodes } from '../fleet/index.ts';
import { assertPayloadFits } from '../rooms/index.ts';
import type { Member, RtcConnection } from './member.ts';

type Frame<T extends keyof SignalingClientFrames> = FrameData<SignalingClientFrames[T]>;

/** Frames other than `join` need a join first. */
export function memberOf({ session: { membership } }: RtcConnection): Member {
  return membership.state.is === 'joined'
    ? membership.state.member
    : fail('SVC_BAD_REQUEST', { message: 'Join first.' });
}

const responseBytesMax = 15_000;

/** Frames that are a command of the participant's node, one to one. */
export function createMediaFrames({ nodes, limits }: { nodes: Nodes; limits: Limits }) {
  const metadataBytesMax = limits.SIGNALING_MAX_TRACK_METADATA_BYTES;

  async function run<N extends MediaCommandName>(
    { serverName }: Member,
    type: N,
    data: MediaCommands[N]['request'],
    forbidden: Parameters<typeof asServiceError>[1],
  ): Promise<MediaCommands[N]['response']> {
    try {
      return await nodes.command(serverName, type, data);
    } catch (error) {
      throw asServiceError(error, forbidden);
    }
  }

  return {
    publish(member: Member, { tracks, description }: Frame<'publish'>) {
      for (const { metadata = '' } of tracks) assertMetadataFits(metadata, metadataBytesMax);
      return run(member, 'pub.offer', { ...member.address, tracks, description }, 'SVC_PUBLISH_NOT_ALLOWED');
    },

    unpublish: (member: Member, { trackIds }: Frame<'unpublish'>) =>
      run(member, 'pub.unpublish', { ...member.address, trackIds }, 'SVC_PUBLISH_NOT_ALLOWED'),

    async answer(member: Member, { revision, description }: Frame<'sub.answer'>): Promise<undefined> {
      const data = { ...member.address, revision, description };
      await run(member, 'sub.answer', data, 'SVC_SUBSCRIBE_NOT_ALLOWED');
    },

    async ice(member: Member, candidates: Frame<'ice'>): Promise<undefined> {
      await run(member, 'ice', { ...member.address, ...candidates }, 'SVC_FORBIDDEN');
    },

    restart: (member: Member, { pc, description, received }: Frame<'ice.restart'>) =>
      run(
        member,
        'ice.restart',
        { ...member.address, pc, ...(description && { description }), ...(received !== undefined && { received }) },
        'SVC_FORBIDDEN',
      ),

    async mute(member: Member, { trackId, muted }: Frame<'track.mute'>): Promise<undefined> {
      await run(member, 'track.mute', { ...member.address, trackId, muted, by: 'PUBLISHER' }, 'SVC_FORBIDDEN');
    },

    subscribe: async (member: Member, choice: Frame<'subscribe'>) =>
      fitting(await run(member, 'subscribe', { ...member.address, ...choice }, 'SVC_SUBSCRIBE_NOT_ALLOWED')),

    unsubscribe: async (member: Member, choice: Frame<'unsubscribe'>) =>
      fitting(await run(member, 'unsubscribe', { ...member.address, ...choice }, 'SVC_SUBSCRIBE_NOT_ALLOWED')),

    async settings(member: Member, { updates }: Frame<'track.settings'>): Promise<undefined> {
      await run(member, 'track.settings', { ...member.address, updates }, 'SVC_SUBSCRIBE_NOT_ALLOWED');
    },

    data(member: Member, message: Frame<'data'>) {
      assertPayloadFits(message);
      if (!member.session.permissions.publishData) fail('SVC_DATA_NOT_ALLOWED');
      const data = { ...message, ...member.address, reliable: message.reliable ?? true };
      return run(member, 'data.send', data, 'SVC_DATA_NOT_ALLOWED');
    },
  };
}

function assertMetadataFits(metadata: string, limit: number): void {
  const actual = Buffer.byteLength(metadata);
  if (actual > limit) fail('SVC_METADATA_TOO_LARGE', { limit, actual });
}

/** An answer is one frame: where the lists are too long for it, their lengths have to do. */
function fitting(result: MediaSubscribeResult): ReplyTo<SignalingClientFrames['subscribe']> {
  const { accepted, refused } = result;
  const whole = { accepted, refused, acceptedCount: accepted.length, refusedCount: refused.length };
  return JSON.stringify(whole).length <= responseBytesMax
    ? whole
    : { accepted: [], refused: [], acceptedCount: accepted.length, refusedCount: refused.length };
}
