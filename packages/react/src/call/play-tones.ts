const TONES_HZ = [440, 660];
const TONE_S = 0.35;

/** On this speaker, or on the one that the system has chosen. */
export async function playTones(speaker: string | undefined): Promise<void> {
  const context = new AudioContext();
  try {
    const output = context.createMediaStreamDestination();
    const oscillator = context.createOscillator();
    const volume = context.createGain();
    volume.gain.value = 0.2;
    TONES_HZ.forEach((pitch, index) => {
      oscillator.frequency.setValueAtTime(pitch, context.currentTime + index * TONE_S);
    });
    oscillator.connect(volume).connect(output);
    const element = new Audio();
    element.srcObject = output.stream;
    // Not every browser lets a page choose; the system's speaker is then the only one.
    if (speaker) await element.setSinkId?.(speaker);
    await element.play();
    oscillator.start();
    oscillator.stop(context.currentTime + TONES_HZ.length * TONE_S);
    await new Promise((resolve) => oscillator.addEventListener('ended', resolve));
    element.srcObject = null;
  } finally {
    await context.close();
  }
}
