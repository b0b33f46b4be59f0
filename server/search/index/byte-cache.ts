interface Sized {
  readonly byteLength: number
}

const BYTES_PER_ENTRY = 200

export const byteCacheOptions = (maxBytes: number) => ({
  maxSize: maxBytes,
  sizeCalculation: ({ byteLength }: Sized) => byteLength + BYTES_PER_ENTRY,
})
