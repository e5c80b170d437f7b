"""Recipe of the spoken sentence of TIMIT."""

from __future__ import annotations

import io
import wave
import zipfile
from pathlib import Path

import numpy as np

_SPEAKER, _SENTENCE = "dr1-fvmh0", "she had your dark suit in greasy wash water all year"
_CLASSES = {
    "closure": "bcl dcl gcl pcl tcl kcl",
    "stop": "b d g p t k dx q",
    "affricate": "jh ch",
    "fricative": "s sh z zh f th v dh",
    "nasal": "m n ng em en eng nx",
    "semivowel/glide": "l r w y hh hv el",
    "silence": "pau epi h#",
}
_CLASS_OF = {phone: name for name, phones in _CLASSES.items() for phone in phones.split()}
_RATE, _WINDOW, _STEP, _FFT = 16000, 480, 80, 512  # 30 ms every 5 ms
_FLOOR = 1e-5


def timit_sa1_stft(path: Path) -> dict[str, np.ndarray]:
    """Compute log spectra of sentence SA1 and the phone at the centre of each frame."""
    with zipfile.ZipFile(path) as archive:
        waveform = read_wave(archive.read(f"timit/{_SPEAKER}/sa1.wav"))
        lines = archive.read(f"timit/{_SPEAKER}/sa1.phn").decode().split("\n")
    segments = [line.split() for line in lines if line.strip()]
    start, end = (np.array([int(segment[k]) for segment in segments], dtype=np.int32) for k in (0, 1))
    phones = np.array([segment[2] for segment in segments])
    if end[-1] != len(waveform):
        raise ValueError(f"the last phone of {path} ends at {end[-1]}, the waveform at {len(waveform)}")
    centers = np.arange(0, len(waveform), _STEP)
    phone = phones[np.searchsorted(end, centers, side="right")]
    return {
        "X": log_spectra(waveform).astype(np.float32),
        "phone": phone,
        "phone_class": np.array([_CLASS_OF.get(str(name), "vowel") for name in phone]),
        "time_s": (centers / _RATE).astype(np.float32),
        "waveform": waveform,
        "sample_rate": np.array(_RATE, dtype=np.int32),
        "seg_start": start,
        "seg_end": end,
        "seg_phone": phones,
        "speaker": np.array(_SPEAKER),
        "sentence": np.array(_SENTENCE),
    }


def read_wave(content: bytes) -> np.ndarray:
    """Return the 16-bit samples of a RIFF file, or of a NIST SPHERE file without compression."""
    if content[:7] == b"NIST_1A":
        return np.frombuffer(content, dtype="<i2", offset=int(content[8:16])).astype(np.int16)
    with wave.open(io.BytesIO(content)) as file:
        layout = file.getnchannels(), file.getsampwidth(), file.getframerate()
        if layout != (1, 2, _RATE):
            raise ValueError(f"channels, bytes and rate of the waveform are {layout}, not (1, 2, {_RATE})")
        return np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(np.int16)


def log_spectra(waveform: np.ndarray) -> np.ndarray:
    """Return natural log magnitudes (n, 256) of Hamming windows that are centred at every 80th sample."""
    padded = np.pad(waveform / 2**15, _WINDOW // 2)
    starts = np.arange(0, len(waveform), _STEP)
    frames = padded[starts[:, None] + np.arange(_WINDOW)] * np.hamming(_WINDOW)
    magnitudes = np.abs(np.fft.rfft(frames, _FFT))[:, : _FFT // 2]
    return np.log(np.maximum(magnitudes, _FLOOR))
