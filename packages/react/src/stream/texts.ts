/** What the player of a stream says. */
export const streamTexts = {
  stream: 'Live stream',
  live: 'Live',
  viewers: (count: number) => (count === 1 ? '1 viewer' : `${count.toLocaleString()} viewers`),
  streamNotStarted: 'The stream has not started yet.',
  waitingForPicture: 'Waiting for the picture.',
  connectingToStream: 'Joining…',
  reconnectingToStream: 'Connection lost. Reconnecting…',
  streamEnded: 'The stream has ended.',
  muteSound: 'Mute',
  unmuteSound: 'Unmute',
};
