/** Text shown for a document that cannot be opened, while no answer that cites it says more. */
export const UNKNOWN_ABSENCE = 'This document was deleted, or you may not open it.'
