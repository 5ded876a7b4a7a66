import { createTestTracks, type Room } from '@parley/client';

export async function publish(room: Room): Promise<void> {
  await room.self.setCamera(true, { codec: 'vp9', maxBitrate: 800_000, frameRate: 24 });
  await room.self.setMicrophone(true, { music: true }); // stereo at 128 kb/s, nothing filtered
  await room.self.setScreenShare(true, { audio: true, contentHint: 'motion' });
  const card = createTestTracks();
  const track = await room.self.publish(card.video, { name: 'slides', simulcast: false });
  await track.mute();
  await track.unmute();
  await track.replace(createTestTracks({ label: 'other' }).video); // nothing is published anew
  await track.stop();
}
