/** What the webhook example hands its events to. */
export const received: object[] = [];
export const onMessage = (data: object): void => void received.push(data);
export const onEnded = (data: object): void => void received.push(data);
