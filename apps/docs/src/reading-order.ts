/** Guides in the order a newcomer reads them; what is not named here follows by name. */
export const readingOrder = [
  'quick-start',
  'packages',
  'concepts',
  'rooms',
  'devices',
  'react',
  'chat',
  'live-streams',
  'webhooks',
  'migration',
  'deploy',
  'upgrade',
  'scale',
  'capacity',
  'failures',
  'security',
];
