/** What a media process counts since its start; `in` is what comes to the node. One engine has a process to itself. */
export const counters = {
  packetsIn: 0,
  /** Missing when their successor came, whether repeated later or not. */
  lostIn: 0,
  /** As subscribers report them. */
  lostOut: 0,
  /** Packets that publishers repeated by RTX. */
  rtxIn: 0,
  /** Packets that were requested again: by subscribers, and of publishers. */
  nacksIn: 0,
  nacksOut: 0,
  /** Key frames that were requested: by subscribers, and of publishers. */
  keyFrameRequestsIn: 0,
  keyFrameRequestsOut: 0,
  resent: 0,
  /** Between processes: packets that others requested again and that were repeated to them, and requested of them. */
  pipeNacksIn: 0,
  pipeNacksOut: 0,
  pipeResent: 0,
};

export type Counters = typeof counters;
