export type Variables = Readonly<Record<string, string | undefined>>;

const linkName = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const linkAddress = /^(tcp|udp|sctp):\/\//;

/**
 * The variables without those that Kubernetes adds for each service of the namespace: one called `chat` adds
 * `CHAT_PORT=tcp://…`, which looks like a setting of ours and is none.
 */
export const withoutServiceLinks = (variables: Variables): Variables =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([name, value]) => !linkName.test(name) && !(name.endsWith('_PORT') && linkAddress.test(value ?? '')),
    ),
  );
