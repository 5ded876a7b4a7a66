/** What the components of a call say. */
export const callTexts = {
  microphone: 'Microphone',
  camera: 'Camera',
  speaker: 'Speaker',
  close: 'Close',
  cancel: 'Cancel',
};
