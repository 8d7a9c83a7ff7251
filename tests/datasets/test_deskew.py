"""Deskewing against its formula pixel by pixel, against SciPy's interpolation, and against what a shear keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from multikernel.datasets import deskew

Array = Any


def moments(image: Array) -> tuple[float, float, float, float]:
    """Mean row, mean column, mu_rr and mu_rc."""
    r, c = np.indices(image.shape)
    mass = image.sum()
    r_mean, c_mean = (image * r).sum() / mass, (image * c).sum() / mass
    mu_rr = (image * (r - r_mean) ** 2).sum()
    return r_mean, c_mean, mu_rr, (image * (r - r_mean) * (c - c_mean)).sum()


def pixel_by_pixel(image: Array) -> Array:
    r_mean, _, mu_rr, mu_rc = moments(image)
    upright = np.zeros_like(image)
    for r in range(image.shape[0]):
        for c in range(image.shape[1]):
            x = c + mu_rc / mu_rr * (r - r_mean)
            left = int(np.floor(x))
            for column, share in ((left, 1 - (x - left)), (left + 1, x - left)):
                if 0 <= column < image.shape[1]:
                    upright[r, c] += share * image[r, column]
    return upright


def slanted(n: int = 6, height: int = 13, width: int = 17) -> Array:
    """Random spots in the middle of an image, slanted each in its own way, with room on all sides."""
    rng = np.random.default_rng(0)
    images = np.zeros((n, height, width))
    for i in range(n):
        for r in range(3, height - 3):
            shift = round((i - n / 2) * 0.6 * (r - height / 2) / 3)
            images[i, r, width // 2 - 1 + shift : width // 2 + 2 + shift] = rng.random(3)
    return images


def test_every_pixel_is_what_the_formula_says() -> None:
    rng = np.random.default_rng(1)
    images = np.concatenate([slanted(), rng.random((4, 13, 17)) ** 4])
    want = np.stack([pixel_by_pixel(image) for image in images])
    np.testing.assert_allclose(deskew(images), want, atol=1e-13)


def test_interpolation_is_that_of_scipy() -> None:
    for image in slanted():
        r_mean, _, mu_rr, mu_rc = moments(image)
        r, c = np.indices(image.shape).astype(float)
        # SciPy's "constant" mode fades out over the border otherwise than by zeros outside; here nothing is there
        want = map_coordinates(image, [r, c + mu_rc / mu_rr * (r - r_mean)], order=1, mode="grid-constant")
        np.testing.assert_allclose(deskew(image[None])[0], want, atol=1e-12)


def test_shear_is_removed_and_mass_and_centre_are_kept() -> None:
    images = slanted()
    for image, upright in zip(images, deskew(images), strict=True):
        before, after = moments(image), moments(upright)
        assert abs(after[3]) <= 1e-12 * after[2]
        np.testing.assert_allclose(after[:3], before[:3], rtol=1e-12)
        assert upright.sum() == pytest.approx(image.sum(), rel=1e-13)


def test_upright_images_stay() -> None:
    images = slanted()
    once = deskew(images)
    np.testing.assert_allclose(deskew(once), once, atol=1e-12)


def test_images_without_vertical_extent_stay() -> None:
    images = np.zeros((3, 6, 5))
    images[1, 2, 1:4] = [0.2, 0.9, 0.4]
    images[2, 5, 4] = 1.0
    np.testing.assert_array_equal(deskew(images), images)


def test_what_leaves_the_image_is_lost_and_zeros_come_in() -> None:
    image = np.zeros((1, 3, 40))
    image[0, 0, 0], image[0, 1, 20], image[0, 2, 39] = 0.01, 10.0, 0.01
    upright = deskew(image)
    assert upright.sum() <= image.sum() + 1e-12
    np.testing.assert_allclose(upright[0], pixel_by_pixel(image[0]), atol=1e-13)


def test_precision_is_kept_and_whole_numbers_become_floats() -> None:
    images = slanted()
    single = deskew(images.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, deskew(images), atol=1e-6)
    grey = (255 * images).astype(np.uint8)
    np.testing.assert_allclose(deskew(grey), deskew(grey.astype(float)), atol=1e-12)


@pytest.mark.parametrize("power", [-900, 1020])
def test_sums_may_be_beyond_floating_point(power: int) -> None:
    images = slanted()
    unit = np.ldexp(1.0, power)
    np.testing.assert_allclose(deskew(images * unit) / unit, deskew(images), rtol=1e-12, atol=1e-13)


def test_more_images_than_are_moved_at_a_time() -> None:
    images = np.tile(slanted(), (200, 1, 1))
    np.testing.assert_array_equal(deskew(images)[-6:], deskew(images[:6]))
    assert deskew(np.zeros((0, 3, 3))).shape == (0, 3, 3)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((4, 9)), "shape"),
        (-np.ones((1, 3, 3)), "grey values"),
        (np.full((1, 3, 3), np.nan), "grey values"),
        (1j * np.ones((1, 3, 3)), "real numbers"),
        (np.ma.masked_greater(np.eye(3)[None], 0.5), "masked at row 0"),
    ],
    ids=["rows", "negative", "nan", "complex", "masked"],
)
def test_what_is_no_image_is_refused(images: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deskew(images)
