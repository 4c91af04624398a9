/** The finish reasons the dialect defines. Clients fail on any other. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';
