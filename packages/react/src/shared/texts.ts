const access = 'Your access has ended. Ask for a new invitation.';
const network = 'The connection was lost. Check your network.';

export const sharedTexts: { errors: Readonly<Record<string, string>> } = {
  /** What is said of an error, by its code; of one that is missing here, the words of the error itself. */
  errors: {
    removed: 'You were removed from the call.',
    room_closed: 'The call was ended for all.',
    duplicate_identity: 'You joined from another window.',
    room_full: 'The call is full.',
    token_expired: access,
    token_revoked: access,
    forbidden: access,
    network,
    node_lost: network,
    no_media: 'Your network blocks sound and pictures.',
    rate_limited: 'Too many attempts. Try again in a minute.',
    protocol: 'This page is out of date. Reload it.',
  },
};
