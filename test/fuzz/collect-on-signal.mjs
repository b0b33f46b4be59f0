// Loaded into the server under test: its garbage is collected when a test asks, so that its memory can be compared.
process.on('SIGUSR2', () => globalThis.gc())
