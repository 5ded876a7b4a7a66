const access = 'Your access has ended. Ask for a new invitation.';
const tooMany = 'Too many attempts. Try again in a minute.';
const network = 'The connection was lost. Check your network.';

export const sharedTexts: { errors: Readonly<Record<string, string>> } = {
  /** What is said of an error, by its code, else by its reason, else by its kind. */
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
    rate_limited: tooMany,
    protocol: 'This page is out of date. Reload it.',
    SVC_TEXT_TOO_LONG: 'The message is too long.',
    SVC_SLOW_MODE: 'Wait a little before your next message.',
    SVC_NOT_A_MEMBER: access,
    SVC_ATTACHMENT_TOO_LARGE: 'The file is too large.',
    permission: 'You may not do this here.',
    rate_limit: tooMany,
    connection: network,
    api: 'That did not work. Try again.',
  },
};
