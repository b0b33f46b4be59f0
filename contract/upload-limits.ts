const MAX_UPLOAD_MEGABYTES = 25
export const MAX_UPLOAD_BYTES = MAX_UPLOAD_MEGABYTES * 1024 * 1024
/** The limit as error sentences name it. The storage bucket `documents` has it too: raising it takes a migration. */
export const MAX_UPLOAD_LABEL = `${MAX_UPLOAD_MEGABYTES} MB`
export const MAX_FILES_PER_UPLOAD = 200
/** Browsers open six connections to a host; other requests need the rest. */
export const MAX_CONCURRENT_UPLOADS = 3
