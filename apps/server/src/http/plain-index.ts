/** What `curl` gets at `/`: what this is, and where to go on. */
export const plainIndexOf = ({ version, publicUrl }: { version: string; publicUrl: string }): string =>
  `Parley ${version}: rooms, chat, live streams and webhooks for your own application.

Dashboard      ${publicUrl}/
Documentation  ${publicUrl}/docs
OpenAPI        ${publicUrl}/v1/openapi.json
For models     ${publicUrl}/llms.txt
Health         ${publicUrl}/healthz, ${publicUrl}/readyz
`;
