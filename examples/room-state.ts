import type { Room } from '@parley/client';

export function drawAlways(room: Room, soundButton: HTMLButtonElement): void {
  const draw = () => {
    const { participants, isAudioBlocked } = room.state.getSnapshot();
    for (const { name, isSpeaking, tracks } of participants)
      for (const { source, isMuted, pauseReason } of tracks)
        console.log(name, isSpeaking, source, isMuted, pauseReason);
    soundButton.hidden = !isAudioBlocked; // its click calls room.startAudio()
  };
  room.state.subscribe(draw);
  draw();
}
